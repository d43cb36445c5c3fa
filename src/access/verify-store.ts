import type { VerifyQueries } from '../platform/verify-checks.ts'

/** Tables whose rows are added by themselves: at the first start, at the end of a month, or when a passkey is begun. */
const unannounced = `('books_currency', 'closed_month', 'encryption_check', 'passkey_owner')`

/** See record_change() and unrecorded_changes(). */
export const changes: VerifyQueries = {
  'what decides about money or access is as it was last recorded': `
    select table_name as table, row_key as id, columns, fault from unrecorded_changes()`,
  'every recorded change has its event in the audit log': `
    select c.table_name as table, c.row_key as id, c.number as change, c.event, 'it was changed without an audit event' as fault
    from (select *, lag(digest) over (partition by table_name, row_key order by number) as before from recorded_change) c
      left join audit a on a.id = c.event and a.outcome = 'allowed'
    where a.id is null and c.at not in (select at from migration)
      and not (c.table_name in ${unannounced} and c.digest is not null and c.before is null)`,
}
