/** The files of the server that the pages contain. */
export const sharedFiles = [
  'src/clients/documents/limits.ts',
  'src/platform/text/typed-amount.ts',
  'src/platform/text/markdown.ts',
  'src/platform/text/decimal.ts',
  'src/platform/text/spelling.ts',
  'src/invoicing/arithmetic.ts',
]
