import type { Database } from '../../src/platform/database/database.ts'

/** Makes the database refuse new invoices to an account, with such an error, until the returned function is called. */
export async function refuseInvoices(database: Database, name: string, code = 'P0001'): Promise<() => Promise<void>> {
  const [account] = await database.rows<{ id: string }>('select id from account where name = $1', [name])
  await database.rows(
    `create function refuse_invoice() returns trigger language plpgsql as $$ begin
       if new.account_id = '${account?.id}' then
         raise exception 'refused by a test' using errcode = '${code}', detail = 'a text that must not leave';
       end if;
       return new;
     end $$`,
  )
  await database.rows(
    'create trigger refuse_invoice before insert on invoice for each row execute function refuse_invoice()',
  )
  return async () => void (await database.rows('drop function refuse_invoice cascade'))
}
