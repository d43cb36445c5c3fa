import { useRecord } from '../record/use-record.ts'
import { summaryOf } from '../record/summary.tsx'
import type { Item } from '../record/items.tsx'
import classes from './drafting.module.css'
import type { DraftRequest } from './wire.ts'

interface SourceChoiceProps extends Pick<DraftRequest, 'notes' | 'disputes'> {
  readonly error: string | undefined
  readonly onChange: (chosen: Partial<Pick<DraftRequest, 'notes' | 'disputes'>>) => void
}

/** Chooses the notes and disputes that the model reads. */
export function SourceChoice({ notes, disputes, error, onChange }: SourceChoiceProps) {
  const record = useRecord()
  if (record.notes.length + record.disputes.length === 0) return null
  return (
    <fieldset className={classes.sources}>
      <legend>What the model reads</legend>
      <div className={classes.choices}>
        {record.disputes.map((item) => (
          <Choice key={item.id} item={item} chosen={disputes} onChange={(ids) => onChange({ disputes: ids })} />
        ))}
        {record.notes.map((item) => (
          <Choice key={item.id} item={item} chosen={notes} onChange={(ids) => onChange({ notes: ids })} />
        ))}
      </div>
      {error !== undefined && <p className={classes.error}>{error}</p>}
    </fieldset>
  )
}

interface ChoiceProps {
  readonly item: Item
  readonly chosen: readonly string[]
  readonly onChange: (ids: string[]) => void
}

function Choice({ item, chosen, onChange }: ChoiceProps) {
  const { title, aside, text } = summaryOf(item)
  const id = `source-${item.id}`
  const isChosen = chosen.includes(item.id)
  return (
    <div className={classes.choice}>
      <input
        type="checkbox"
        id={id}
        checked={isChosen}
        onChange={() => onChange(isChosen ? chosen.filter((each) => each !== item.id) : [...chosen, item.id])}
      />
      <label htmlFor={id} className={classes.item}>
        <span>
          <strong>{title}</strong> {aside}
        </span>
        <span className={classes.beginning}>{text.slice(0, 200)}</span>
      </label>
    </div>
  )
}
