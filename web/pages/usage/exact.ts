/** Decimals of an amount, as many as the server sends at most. */
const decimals = 12

/** The exact sum of decimals such as `0.0125312`. */
export function sumOfAmounts(amounts: readonly string[]): string {
  const sum = amounts
    .reduce((all, amount) => all + parse(amount), 0n)
    .toString()
    .padStart(decimals + 1, '0')
  const whole = sum.slice(0, -decimals)
  const fraction = sum.slice(-decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function parse(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}
