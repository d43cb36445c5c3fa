type Work = () => Promise<void>

/** Work of several people, one piece after the other. They take turns, so that the many pieces of one do not delay the others. */
export interface FairQueue {
  /** Runs the work when its turn comes, which is before that of all others if it is `urgent`. Rejects as the work does. */
  add<Result>(by: string, work: () => Promise<Result>, options?: { readonly urgent?: boolean }): Promise<Result>
  /** The pieces of one person that wait. */
  waitingOf(by: string): number
  /** All pieces that wait. */
  readonly waiting: number
}

export function createFairQueue(): FairQueue {
  const urgentWork: Work[] = []
  /** What waits, by person. */
  const lines = new Map<string, Work[]>()
  /** The number of each person's last turn, until nothing waits. */
  const turns = new Map<string, number>()
  let turn = 0
  let isRunning = false

  function next(): Work | undefined {
    const urgent = urgentWork.shift()
    if (urgent) return urgent
    const [by] = [...lines.keys()].toSorted((one, other) => (turns.get(one) ?? 0) - (turns.get(other) ?? 0))
    if (by === undefined) {
      turns.clear()
      return undefined
    }
    turns.set(by, ++turn)
    const line = lines.get(by)
    const work = line?.shift()
    if (line?.length === 0) lines.delete(by)
    return work
  }

  async function run(): Promise<void> {
    if (isRunning) return
    isRunning = true
    for (let work = next(); work; work = next()) await work()
    isRunning = false
  }

  return {
    add<Result>(by: string, work: () => Promise<Result>, { urgent = false } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const piece = () => work().then(resolve, reject)
      const line = urgent ? urgentWork : lines.get(by)
      if (line) line.push(piece)
      else lines.set(by, [piece])
      void run()
      return promise
    },
    waitingOf: (by) => lines.get(by)?.length ?? 0,
    get waiting() {
      return urgentWork.length + [...lines.values()].reduce((sum, { length }) => sum + length, 0)
    },
  }
}
