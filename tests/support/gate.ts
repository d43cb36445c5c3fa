/** Holds steps back until the test opens the gate for them, so that the test controls the order of events. */
export interface Gate {
  /** Resolves when this step may be taken. The first is 0. */
  readonly pass: (step: number) => Promise<void>
  /** Allows the first `steps` steps. Default: all. */
  open(steps?: number): void
}

export function createGate(): Gate {
  let allowed = 0
  let changed = Promise.withResolvers<void>()
  async function pass(step: number): Promise<void> {
    if (step < allowed) return
    await changed.promise
    await pass(step)
  }
  return Object.freeze({
    pass,
    open(steps = Number.POSITIVE_INFINITY) {
      allowed = Math.max(allowed, steps)
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
  })
}
