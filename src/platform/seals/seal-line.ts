/** A seal as it is kept outside the database. */
export interface SealLine {
  readonly chain: string
  readonly number: bigint
  /** The last row number that the seal covers. */
  readonly upto: bigint
  /** 64 hexadecimal digits. */
  readonly hash: string
}

/** `ledger:12:5000:9f86d0…`, as in the service's log. */
export function formatSeal({ chain, number, upto, hash }: SealLine): string {
  return `${chain}:${number}:${upto}:${hash}`
}

/** Every seal in a text, for example in lines of the service's log. Throws RangeError if there is none. */
export function parseSeals(text: string): SealLine[] {
  const seals = [...text.matchAll(/\b([a-z_]+):(\d{1,18}):(\d{1,18}):([0-9a-f]{64})\b/g)].map(
    ([, chain = '', number = '', upto = '', hash = '']) => ({
      chain,
      number: BigInt(number),
      upto: BigInt(upto),
      hash,
    }),
  )
  if (seals.length === 0) throw new RangeError('must contain a seal from the log, such as ledger:12:5000:9f86d0…')
  return seals
}
