import { useState } from 'react'
import type { KeyIssued } from '../../../src/accounts/schema.ts'
import { ApiError } from '../../api.ts'

interface IssueNeeds {
  readonly onIssued: (key: KeyIssued) => void
  /** Called if a key may exist that was not shown. */
  readonly onLost: () => void
}

/** Requests a new key. If its response is lost, the key cannot be shown again. */
export function useIssue({ onIssued, onLost }: IssueNeeds) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()

  async function issue(request: () => Promise<KeyIssued>): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      onIssued(await request())
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      if (thrown.status === 0 || thrown.status === 409 || thrown.status >= 500) onLost()
      setError(thrown)
    }
    setBusy(false)
  }

  return { busy, error, issue }
}
