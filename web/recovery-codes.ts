/** Saves recovery codes as a text file. */
export function downloadCodes(codes: readonly string[]): void {
  const lines = [`Recovery codes for Tollgate at ${location.host}`, 'Each works once.', '', ...codes, '']
  const url = URL.createObjectURL(new Blob([lines.join('\n')], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = 'tollgate-recovery-codes.txt'
  link.click()
  URL.revokeObjectURL(url)
}

/** Copies recovery codes. Throws an error for the person if the browser does not allow it. */
export async function copyCodes(codes: readonly string[]): Promise<void> {
  try {
    await navigator.clipboard.writeText(codes.join('\n'))
  } catch (error) {
    throw new Error('The browser does not allow copying here. Select the codes and copy them.', { cause: error })
  }
}
