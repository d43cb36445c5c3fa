/** The files of the server that the pages contain. */
export const sharedFiles = [
  'src/platform/typed-amount.ts',
  'src/platform/markdown.ts',
  'src/platform/decimal.ts',
  'src/platform/spelling.ts',
  'src/invoicing/arithmetic.ts',
]
