/** Whether an exact decimal is zero: `0`, `0.00`. */
export const isZero = (amount: string): boolean => !/[1-9]/.test(amount)
