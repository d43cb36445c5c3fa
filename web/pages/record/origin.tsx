import { Ago } from '../../components/time.tsx'
import { moneyText } from '../../money.ts'
import classes from './entry.module.css'
import type { Item } from './items.tsx'

/** Who wrote, added or changed an item last, and when. */
export function Origin({ item }: { readonly item: Item }) {
  const isEdited = item.version > 1
  const begun = 'digest' in item ? 'Added' : 'Written'
  const by = isEdited ? item.updated_by : item.created_by
  return (
    <footer className={classes.origin}>
      {isEdited ? 'Changed' : begun}{' '}
      {by && (
        <>
          by <bdi>{by.name}</bdi>,{' '}
        </>
      )}
      <Ago time={isEdited ? item.updated_at : item.created_at} />
      {'generated' in item &&
        item.generated &&
        ` · Drafted by a model${item.cost === null ? '' : `, cost ${moneyText(item.cost, item.currency)}`}`}
    </footer>
  )
}
