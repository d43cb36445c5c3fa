import type { FromChild } from './protocol.ts'

/** The calls that the child works on, by id. */
export interface ChildWork {
  /** An error fails only its own call. Faults that affect every call end the process anyway. */
  attempt(id: number, work: Promise<void>): void
  cancel(id: number): void
  isCancelled(id: number): boolean
}

export function createChildWork(send: (message: FromChild) => void): ChildWork {
  const cancelled = new Set<number>()
  const running = new Set<number>()
  return {
    attempt(id, work) {
      running.add(id)
      void work
        .catch((error: unknown) => send({ kind: 'failed', id, fault: faultOf(error) }))
        .finally(() => {
          running.delete(id)
          cancelled.delete(id)
        })
    },
    cancel(id) {
      if (running.has(id)) cancelled.add(id)
    },
    isCancelled: (id) => cancelled.has(id),
  }
}

/** The name and stack of an error. The message is left out because it may quote the prompt. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name, message, stack = '' } = error
  const frames = stack.slice(stack.indexOf(message) + message.length)
  return `${name}${frames.replaceAll(/\s+/g, ' ')}`
}
