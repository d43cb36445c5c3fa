/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { leaveFor } from './api.ts'
import { EnrolPasskey } from './enrol-passkey.tsx'
import { EnrolPhone } from './enrol-phone.tsx'
import { EnrolTotp } from './enrol-totp.tsx'
import { Panel } from './panel.tsx'
import { RecoveryCodesPage } from './recovery-codes.tsx'
import { StartOver } from './start-over.tsx'
import { postFactor, type Choice } from './wire.ts'

interface Enrolled {
  readonly location: string
  readonly recovery_codes?: readonly string[]
}

/** The props of a factor's form. */
export interface EnrolProps {
  readonly begin: <Challenge>(input?: object) => Promise<Challenge>
  readonly complete: (input: object) => Promise<void>
}

const forms: Readonly<Record<string, (props: EnrolProps) => preact.JSX.Element>> = {
  totp: EnrolTotp,
  passkey: EnrolPasskey,
  sms: EnrolPhone,
}

const about: Readonly<Record<string, string>> = {
  totp: 'An app on your phone shows a new code every 30 seconds.',
  passkey: 'Your device, phone or security key confirms that it is you.',
  sms: 'We send a code to your phone each time.',
}

/** The set-up of a second factor that the firm requires, before the session starts. */
export function EnrolPage({ factors }: { readonly factors: readonly Choice[] }) {
  const [chosen, setChosen] = useState(factors.length === 1 ? factors[0] : undefined)
  const [enrolled, setEnrolled] = useState<Enrolled>()

  async function complete(input: object): Promise<void> {
    const done = await postFactor<Enrolled>('/auth/second-factor/enrol', { input })
    if (done.recovery_codes === undefined) await leaveFor(done.location)
    setEnrolled(done)
  }

  if (enrolled)
    return <RecoveryCodesPage codes={enrolled.recovery_codes ?? []} onDone={() => leaveFor(enrolled.location)} />
  const FactorForm = chosen && forms[chosen.id]
  if (!chosen || !FactorForm) return <ChooseFactor factors={factors} onChoose={setChosen} />
  const begin = async <Challenge,>(input?: object) =>
    (
      await postFactor<{ challenge: Challenge }>('/auth/second-factor/enrol/start', {
        factor: chosen.id,
        ...(input && { input }),
      })
    ).challenge
  return (
    <Panel title={`Set up: ${chosen.name}`}>
      <FactorForm begin={begin} complete={complete} />
      {factors.length > 1 && (
        <button type="button" class="link" onClick={() => setChosen(undefined)}>
          Choose another second factor
        </button>
      )}
      <StartOver />
    </Panel>
  )
}

interface ChooseProps {
  readonly factors: readonly Choice[]
  readonly onChoose: (factor: Choice) => void
}

function ChooseFactor({ factors, onChoose }: ChooseProps) {
  return (
    <Panel title="Set up a second factor">
      <p>You need a second factor to sign in, and have none yet. Choose one to set up:</p>
      <div class="choices">
        {factors.map((factor) => (
          <button key={factor.id} type="button" class="button tall" onClick={() => onChoose(factor)}>
            <strong>{factor.name}</strong>
            <span>{about[factor.id]}</span>
          </button>
        ))}
      </div>
      <StartOver />
    </Panel>
  )
}
