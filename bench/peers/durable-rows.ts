import { randomUUID } from 'node:crypto'
import pg from 'pg'

interface Waiting {
  readonly id: string
  readonly account: string
  readonly resolve: () => void
}

/** Appends rows to a table of their own, with one batch in flight. A row's promise resolves when its commit is on disk. */
export function openRows(url: string): (account: string) => Promise<void> {
  const client = new pg.Client({ connectionString: url })
  // Its database ends with the benchmark.
  client.on('error', () => process.exit(1))
  let waiting: Waiting[] = []
  let inFlight = client.connect().then(() => client.query(table))
  let isSending = false

  async function send(): Promise<void> {
    isSending = true
    await inFlight
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      inFlight = client.query({
        name: 'append',
        text: insert,
        values: [batch.map(({ id }) => id), batch.map(({ account }) => account)],
      })
      await inFlight
      for (const { resolve } of batch) resolve()
    }
    isSending = false
  }

  return (account) =>
    new Promise((resolve) => {
      waiting.push({ id: randomUUID(), account, resolve })
      if (!isSending) void send()
    })
}

const table = `
  create table if not exists durable_row (
    id uuid primary key, at timestamptz not null, account text not null, model text not null, input_tokens integer not null,
    output_tokens integer not null, cost numeric not null);
  create index if not exists durable_row_account on durable_row (account, at)`

const insert = `
  insert into durable_row (id, at, account, model, input_tokens, output_tokens, cost)
  select id, clock_timestamp(), account, 'm', 20, 5, 6000000 from unnest($1::uuid[], $2::text[]) as r (id, account)`
