/** Layers. Mantine's dialogs have 200, and a dialog can open a confirmation. */
export const layers = {
  question: 210,
  /** Above all dialogs, to hide the page. */
  cover: 220,
  /** Above notices (400), which would cover the items of a menu near the corner. */
  menu: 410,
} as const
