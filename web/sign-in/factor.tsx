/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { FactorForm } from './factor-form.tsx'
import { Panel } from './panel.tsx'
import { StartOver } from './start-over.tsx'
import type { Choice } from './wire.ts'

/** The second factor of a person who has one. */
export function FactorPage({ factors }: { readonly factors: readonly Choice[] }) {
  const [chosen, setChosen] = useState(factors[0])
  const others = factors.filter(({ id }) => id !== chosen?.id)
  return (
    <Panel title="Second factor" key={chosen?.id}>
      {chosen && <FactorForm factor={chosen} />}
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
      <StartOver />
    </Panel>
  )
}
