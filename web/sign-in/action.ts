import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Refused } from './api.ts'
import { useSecondsUntil } from './seconds.ts'

/** Something that the person started and that takes time. */
export interface Action {
  readonly busy: boolean
  /** Why the last run failed. */
  readonly refusal: Refused | undefined
  /** Seconds until the server accepts the next try; 0 means now. */
  readonly wait: number
  /** Ignored while it is running, and until the wait is over. */
  readonly run: (work: () => Promise<void>) => void
  /** Shows why something else failed. */
  readonly fail: (error: unknown) => void
  /** Hides why it failed, when the person has chosen another way. */
  readonly forget: () => void
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState<Refused>()
  const runningRef = useRef(false)
  const wait = useSecondsUntil(refusal?.retryAt)

  async function start(work: () => Promise<void>): Promise<void> {
    runningRef.current = true
    setBusy(true)
    setRefusal(undefined)
    try {
      await work()
    } catch (error) {
      setRefusal(refusalOf(error))
    } finally {
      runningRef.current = false
      setBusy(false)
    }
  }

  const fail = useCallback((error: unknown) => setRefusal(refusalOf(error)), [])

  return {
    busy,
    refusal,
    wait,
    run: (work) => {
      if (!runningRef.current && wait === 0) void start(work)
    },
    fail,
    forget: () => setRefusal(undefined),
  }
}

/** Runs something when the step appears. */
export function useStart(work: () => Promise<void>): Action {
  const action = useAction()
  const startedRef = useRef(false)
  useEffect(() => {
    if (startedRef.current) return
    startedRef.current = true
    action.run(work)
  })
  return action
}

function refusalOf(error: unknown): Refused {
  if (error instanceof Refused) return error
  return new Refused(error instanceof Error ? error.message : 'Something went wrong on this page. Reload it.')
}
