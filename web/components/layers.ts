/** Layers above Mantine's dialogs (200), since a dialog can open a confirmation. */
export const layers = {
  question: 210,
  /** Above everything, to hide the page. */
  cover: 220,
} as const
