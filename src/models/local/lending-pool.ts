/** Things that are lent to one at a time, the longest waiting first. */
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
