/** What the names of the wire are to people. */
export const roleNames = { consultant: 'Consultant', partner: 'Partner' } as const

export const disputeStatusNames = { open: 'Open', settled: 'Settled', withdrawn: 'Withdrawn' } as const
export const letterStatusNames = { draft: 'Draft', approved: 'Approved', sent: 'Sent' } as const

/** `client_read` → `Client read`, for what has no name of its own here. */
export function spoken(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`
}
