import { Alert, Button } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { useState } from 'react'
import type { AuditProof } from '../../../src/access/schema.ts'
import { change } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import { numberText } from '../../locale.ts'
import classes from './audit.module.css'

/** The result of the last verification, and a function that starts one. */
export function useVerification() {
  const [proof, setProof] = useState<AuditProof>()
  const [busy, setBusy] = useState(false)

  async function verify() {
    setBusy(true)
    try {
      setProof(await change<AuditProof>('/audit/verification', { method: 'POST' }))
    } catch (error) {
      notifyFailure('The audit log was not verified', error)
    } finally {
      setBusy(false)
    }
  }

  return { proof, busy, verify, close: () => setProof(undefined) }
}

export function VerifyButton({ busy, verify }: Pick<ReturnType<typeof useVerification>, 'busy' | 'verify'>) {
  return (
    <Button variant="default" leftSection={<IconShieldCheck size={15} />} loading={busy} onClick={() => void verify()}>
      Verify the chain
    </Button>
  )
}

/** The results of the checks. */
export function ProofAlert({ proof, onClose }: { readonly proof: AuditProof; readonly onClose: () => void }) {
  const { ok, rows, last_seal: lastSeal, checks } = proof
  const part = checks.find(({ read }) => read !== null)?.read
  return (
    <Alert
      className={classes.proof}
      color={ok ? 'teal' : 'red'}
      title={ok ? 'The audit log is intact' : 'The audit log has been altered'}
      withCloseButton
      closeButtonLabel="Close"
      onClose={onClose}
    >
      <p>
        {numberText(rows)} sealed rows{part !== undefined && `, of which the newest and ${part} were read`}.
      </p>
      {lastSeal !== null && (
        <p>
          Last seal: <code>{lastSeal}</code>
        </p>
      )}
      {checks
        .flatMap(({ faults }) => faults)
        .map((fault) => (
          <p key={fault}>{fault}</p>
        ))}
    </Alert>
  )
}
