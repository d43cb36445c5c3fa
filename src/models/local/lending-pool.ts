/** Lends each thing to one borrower at a time, in the order of the requests. */
export interface LendingPool<Thing> {
  take(): Promise<Thing>
  giveBack(thing: Thing): void
}

export function createLendingPool<Thing>(things: readonly Thing[]): LendingPool<Thing> {
  const free = [...things]
  const waiting: ((thing: Thing) => void)[] = []
  return {
    async take() {
      return free.pop() ?? new Promise<Thing>((resolve) => waiting.push(resolve))
    },
    giveBack(thing) {
      const next = waiting.shift()
      if (next === undefined) free.push(thing)
      else next(thing)
    },
  }
}
