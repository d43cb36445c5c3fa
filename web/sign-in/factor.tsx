/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { look } from './api.ts'
import { FactorForm } from './factor-form.tsx'
import { Panel } from './panel.tsx'
import { StartOver } from './start-over.tsx'
import type { Choice } from './wire.ts'

/** The second factor of a person who has one. */
export function FactorPage({ factors }: { readonly factors: readonly Choice[] }) {
  const [chosen, setChosen] = useState(factors[0])
  const [recovered, setRecovered] = useState<Recovered>()
  const others = factors.filter(({ id }) => id !== chosen?.id)
  if (recovered) return <RecoveredPage {...recovered} />
  async function onRecovered(next: string): Promise<void> {
    const me = await look<{ readonly recovery_codes_left: number }>('/me')
    setRecovered({ next, left: me?.recovery_codes_left })
  }
  return (
    <Panel title="Second factor" key={chosen?.id}>
      {chosen && <FactorForm factor={chosen} onRecovered={onRecovered} />}
      {factors.length === 0 && <p>You have no second factor that works here. Ask a partner of the firm.</p>}
      {others.length > 0 && (
        <div class="others">
          <p>Use another one:</p>
          <ul>
            {others.map((factor) => (
              <li key={factor.id}>
                <button type="button" class="link" onClick={() => setChosen(factor)}>
                  {factor.name}
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {factors.length > 0 && (
        <p class="about">
          If you have lost {factors.length === 1 ? 'it' : 'all of these'}, ask a partner of the firm or the operator of
          Tollgate to reset your second factor. Then you can sign in and set up a new one.
        </p>
      )}
      <StartOver />
    </Panel>
  )
}

interface Recovered {
  /** The address of the page that the person wants. */
  readonly next: string
  /** Undefined if the server did not say. */
  readonly left: number | undefined
}

/** After a recovery code: most people who use one have lost their second factor. */
function RecoveredPage({ next, left }: Recovered) {
  return (
    <Panel title="You are signed in">
      <p>
        The recovery code that you entered no longer works.
        {left !== undefined && ` You have ${left} left.`} If you have lost your second factor, set up a new one now.
      </p>
      <a class="button primary" href="/me">
        Set up a second factor
      </a>
      <a class="button" href={next}>
        Continue
      </a>
    </Panel>
  )
}
