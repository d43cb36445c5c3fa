import classes from './items.module.css'

/** What a list of items says on the record of an archived client, where nothing can be added. */
export function ArchivedNotice() {
  return (
    <p className={classes.archived}>
      This client is archived. To change its record, choose “Restore client” under “More” at the top.
    </p>
  )
}
