const consultants = 500
const clientsOfEach = 400
export const clientCount = consultants * clientsOfEach

const words = `(array['Berg', 'Lindqvist', 'Holm', 'Anna', 'Moreau', 'Okafor', 'Costa', 'Novak', 'Silva', 'Ito'])`
const items = ['note', 'dispute', 'letter']
/** The verification at the end asks for the event of every recorded change. */
const announced = `with event as (insert into audit (actor, action, outcome) values ('service', 'seeded', 'allowed'))`

/** The statements that create consultants and their clients. A superuser runs them. */
export const clientSeeds = [
  `${announced} insert into person (id, name, role, created_at)
   select ('01990000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Consultant ' || n, 'consultant', now()
   from generate_series(1, ${consultants}) n`,
  `${announced} insert into client (id, name, reference, email, consultant_id)
   select ('01990000-0001-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
     ${words}[1 + n % 10] || ' ' || ${words}[1 + n / 10 % 10] || ' ' || substr(md5(n::text), 1, 6) || ' GmbH',
     'C-' || lpad(n::text, 6, '0'), 'post' || n || '@client.example',
     ('01990000-0000-7000-8000-' || lpad(to_hex(1 + n % ${consultants}), 12, '0'))::uuid
   from generate_series(1, ${clientCount}) n`,
]

/** The same with some records. */
export const seeds = [
  ...clientSeeds,
  // For every item, one trigger would rewrite the client and the other would add up the client's items.
  ...items.map((table) => `alter table ${table} disable trigger touched, disable trigger bounded`),
  `${announced} insert into note (id, client_id, created_by, updated_by, date, participants, text)
   select uuidv7(), id, consultant_id, consultant_id, date '2026-01-01' + n, array['Anna Berg', 'Ben Holm'],
     'We agreed a fixed fee for the annual accounts. She sends the bank statements by the end of the month. ' || n
   from client, generate_series(1, 3) n where right(id::text, 5) < '05000'`,
  `${announced} insert into dispute (id, client_id, created_by, updated_by, invoice, amount, position)
   select uuidv7(), id, consultant_id, consultant_id, 'INV-7', 1250000000000000, 'They say that it was a fixed fee.' from client
   where right(id::text, 5) < '05000'`,
  `${announced} insert into letter (id, client_id, created_by, updated_by, subject, body)
   select uuidv7(), id, consultant_id, consultant_id, 'Your annual accounts', repeat('We write to you about the accounts. ', 12) from client
   where right(id::text, 5) < '05000'`,
  ...items.map((table) => `alter table ${table} enable trigger touched, enable trigger bounded`),
  'vacuum analyze',
]
