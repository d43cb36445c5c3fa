import type { Database } from '../../src/platform/database/database.ts'

/** Lets a database refuse new charges and holds although it is available. */
export interface Refusals {
  /** Refuses the next ones, `times` in all, with this SQLSTATE. */
  refuse(code: string, times: number): Promise<void>
  accept(): Promise<void>
  remove(): Promise<void>
}

const tables = ['ledger', 'hold']

export async function installRefusals(database: Database): Promise<Refusals> {
  await database.rows('create table refusal (code text, times integer)')
  await database.rows(`insert into refusal values ('P0001', 0)`)
  await database.rows('create sequence refused')
  await database.rows(`create function refuse() returns trigger language plpgsql as $$
    declare v_code text;
    begin
      -- A sequence keeps its value after a rollback.
      select code into v_code from refusal where times > (select last_value from refused);
      if found then
        perform nextval('refused');
        raise exception 'refused' using errcode = v_code;
      end if;
      return new;
    end $$`)
  for (const table of tables) {
    await database.rows(`create trigger refuse before insert on ${table} for each row execute function refuse()`)
  }

  async function refuse(code: string, times: number): Promise<void> {
    await database.rows(`select setval('refused', 1)`)
    await database.rows('update refusal set code = $1, times = $2', [code, times + 1])
  }

  return {
    refuse,
    accept: () => refuse('P0001', 0),
    async remove() {
      for (const table of tables) await database.rows(`drop trigger refuse on ${table}`)
      await database.rows('drop function refuse')
      await database.rows('drop table refusal')
      await database.rows('drop sequence refused')
    },
  }
}
