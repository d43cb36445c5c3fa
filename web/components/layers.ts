/** What lies above the other dialogs, which Mantine puts at 200: a question may come from one of them. */
export const layers = {
  question: 210,
  /** Above everything: nobody who passes by reads on. */
  cover: 220,
} as const
