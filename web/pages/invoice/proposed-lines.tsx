import { memo } from 'react'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { moneyText } from '../../money.ts'
import classes from './draft-form.module.css'
import { nameOfLine } from './draft-values.ts'

interface ProposedLinesProps {
  readonly lines: ShownInvoice['lines']
  readonly currency: string
  /** The names of the lines that are left out. */
  readonly leftOut: readonly string[]
  readonly disabled: boolean
  readonly onChange: (leftOut: readonly string[]) => void
}

/**
 * The lines for time, expenses and letters, and those for the usage of an account, which is billed whole. There can be
 * hundreds, so they do not render for each key typed beside them.
 */
export const ProposedLines = memo(function ProposedLines(props: ProposedLinesProps) {
  const { lines, currency, leftOut, disabled, onChange } = props
  if (lines.length === 0) return null
  const canChoose = lines.some((line) => nameOfLine(line) !== undefined)
  function choose(name: string, isIncluded: boolean) {
    const others = leftOut.filter((each) => each !== name)
    onChange(isIncluded ? others : [...others, name].toSorted())
  }
  return (
    <fieldset className={classes.proposed} disabled={disabled}>
      <legend>Proposed lines</legend>
      <ul>
        {lines.map((line) => {
          const name = nameOfLine(line)
          const isLeftOut = name !== undefined && leftOut.includes(name)
          return (
            <li key={line.position}>
              <label>
                <input
                  type="checkbox"
                  checked={!isLeftOut}
                  disabled={name === undefined}
                  onChange={({ currentTarget: { checked } }) => name !== undefined && choose(name, checked)}
                />
                <span>{line.text}</span>
              </label>
              <span className={isLeftOut ? classes.leftOut : classes.net}>{moneyText(line.net, currency)}</span>
            </li>
          )
        })}
      </ul>
      {canChoose && <p className={classes.hint}>What you leave out stays unbilled, for another invoice.</p>}
    </fieldset>
  )
})
