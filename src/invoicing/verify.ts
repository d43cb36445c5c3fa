import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'

const unit = 'power(10::numeric, 12 - i.decimals)::numeric(38, 0)'

/** Whether an amount is another, times a factor, rounded half to even to the minor unit. */
const isRounded = (amount: string, exact: string, factor: string) => `${amount} % ${unit} = 0
  and 2 * abs(${amount} * ${factor} - ${exact}) <= ${unit} * ${factor}
  and (2 * abs(${amount} * ${factor} - ${exact}) < ${unit} * ${factor} or div(${amount}, ${unit}) % 2 = 0)`

/** Whether an invoice still bills its month. */
const bills = `i.month is not null and i.state <> 'void'
  and not (i.kind = 'invoice' and i.state = 'issued' and exists (
    select from invoice c where c.credits_id = i.id and c.state = 'issued') and invoice_credited(i.id) = i.gross)`

const invoices: VerifyQueries = {
  'the lines of every billed month are the sum of its ledger': `
    with lined as (select invoice_id, sum(exact) as exact from invoice_line where source = 'usage' group by 1),
      used as (select account_id, date_trunc('month', day)::date as month, sum(cost) as cost from usage_day group by 1, 2)
    select i.id as invoice, i.account_id as account, i.month, coalesce(l.exact, 0) as lines, coalesce(u.cost, 0) as ledger
    from invoice i left join lined l on l.invoice_id = i.id
      left join used u on u.account_id = i.account_id and u.month = i.month
    where i.month is not null and i.state <> 'void' and coalesce(l.exact, 0) <> coalesce(u.cost, 0)`,
  'every line is rounded once to the minor unit': `
    select i.id as invoice, l.position, l.exact, l.net from invoice_line l join invoice i on i.id = l.invoice_id
    where l.exact <> half_even(l.quantity * l.unit_price, price_base(l.unit)) or (l.source <> 'credit' and not (${isRounded('l.net', 'l.quantity * l.unit_price', 'price_base(l.unit)')}))`,
  'no credit note exceeds the lines of its invoice, and all of them are rounded together': `
    with issued as (
      select c.id, c.credits_id, c.decimals, c.taxes, s.number from invoice c join invoice_issue s on s.invoice_id = c.id
      where c.kind = 'credit_note'
    ), lined as (
      select c.*, l.position, l.credits_position, sum(l.quantity) over parts as quantity, sum(l.quantity * l.unit_price) over parts as product, l.unit,
        sum(l.net) over parts as net
      from issued c join invoice_line l on l.invoice_id = c.id
      window parts as (partition by c.credits_id, l.credits_position order by c.number)
    ), taxed as (
      select c.*, t.category, t.rate, sum(t.net) over parts as net, sum(t.tax) over parts as tax
      from issued c cross join lateral jsonb_to_recordset(c.taxes) as t(category text, rate numeric, net numeric, tax numeric)
      window parts as (partition by c.credits_id, t.category, t.rate order by c.number)
    )
    select i.id as credit_note, i.position, null as tax from lined i
      left join invoice_line o on o.invoice_id = i.credits_id and o.position = i.credits_position
    where o.position is null or i.quantity > o.quantity or not (${isRounded('i.net', 'i.product', 'price_base(i.unit)')})
    union all
    select i.id, null, i.category || ' ' || i.rate from taxed i where not (${isRounded('i.tax', 'i.net * i.rate', '10000')})`,
  'the totals of every invoice are those of its lines and taxes': `
    with taxed as (
      select i.id, t.category, t.rate, t.net, t.tax,
        i.kind <> 'invoice' or ${isRounded('t.tax', 't.net * t.rate', '10000')} as rounded
      from invoice i cross join lateral jsonb_to_recordset(i.taxes)
        as t(category text, rate numeric, reason text, net numeric, tax numeric)
    ), lined as (
      select invoice_id as id, tax_category as category, tax_rate::numeric as rate, sum(net) as net from invoice_line group by 1, 2, 3
    ), summed as (
      select id, coalesce(sum(lined.net), 0) as net, coalesce(sum(taxed.tax), 0) as tax,
        bool_and(coalesce(rounded and taxed.net = lined.net, false)) as matches
      from taxed full join lined using (id, category, rate) group by id
    )
    select i.id as invoice, i.net, i.tax, i.gross from invoice i left join summed s on s.id = i.id
    where (i.net, i.tax, i.gross) <> (coalesce(s.net, 0), coalesce(s.tax, 0), i.net + i.tax)
      or not s.matches`,
  'every issued invoice is as it was issued': `
    select coalesce(i.id, s.invoice_id) as invoice, i.number from
      (select id, number from invoice where state = 'issued') i full join invoice_issue s on s.invoice_id = i.id
    where i.id is null or s.document is distinct from invoice_document(
      (select stored from invoice stored where stored.id = i.id))`,
  'the numbers of every series are consecutive': `
    select s.name as series, s.last, count(i.id) as invoices, max(i.series_number) as highest
    from invoice_series s left join invoice i on i.series = s.name and i.state = 'issued'
      and i.number = replace(s.name, '{number}',
        lpad(i.series_number::text, length(i.number) - length(s.name) + length('{number}'), '0'))
    group by s.name, s.last having count(i.id) <> s.last or max(i.series_number) is distinct from s.last`,
  'no invoice is paid or credited more than it is for': `
    select i.id as invoice, i.gross, invoice_paid(i.id) as paid, invoice_credited(i.id) as credited from invoice i
    where i.kind = 'invoice' and (invoice_paid(i.id) > i.gross or invoice_credited(i.id) > i.gross)`,
  'every reversed payment is on the same invoice': `
    select p.id as payment, p.invoice_id as invoice from invoice_payment p
      left join invoice_payment o on o.id = p.reverses_id and o.invoice_id = p.invoice_id and o.amount = -p.amount
    where p.reverses_id is not null and o.id is null`,
  'every mail to a payer has the file that was sent': `
    select m.id as mail, m.invoice_id as invoice from invoice_mail m left join invoice_file f on f.invoice_id = m.invoice_id
    where m.digest is distinct from sha256(f.content)`,
  'every month that is billed is marked, once': `
    select coalesce(i.id, b.invoice_id) as invoice, coalesce(i.account_id, b.account_id) as account,
      coalesce(i.month, b.month) as month
    from (select i.id, i.account_id, i.month from invoice i where ${bills}) i
      full join billed_month b on b.invoice_id = i.id
    where (i.id, i.account_id, i.month) is distinct from (b.invoice_id, b.account_id, b.month)`,
  'every entry that is billed is on one line, as it is': `
    select coalesce(l.invoice_id, b.invoice_id) as invoice, coalesce(l.entry_id, b.entry_id) as entry, l.position
    from (select l.* from invoice_line l join invoice i on i.id = l.invoice_id
        where l.entry_id is not null and invoice_bills(i)) l
      full join billed_entry b on b.entry_id = l.entry_id and b.invoice_id = l.invoice_id
      left join invoice i on i.id = l.invoice_id
      left join time_entry t on t.id = l.entry_id and l.source = 'time'
      left join expense e on e.id = l.entry_id and l.source = 'expense'
    where l.entry_id is null or b.entry_id is null or not exists (select from erased_client c where c.client_id = i.client_id)
      and (i.client_id, l.entry_version, true, l.quantity * l.unit_price * 1000000) is distinct from (
        coalesce(t.client_id, e.client_id), coalesce(t.version, e.version),
        coalesce(t.billable and t.archived_at is null, e.billable and e.archived_at is null),
        coalesce(t.minutes * 1000000 * t.rate, e.amount * 1000000))`,
  'every month of letters that is billed is on one line, at its cost with the mark-up': `
    select coalesce(l.invoice_id, b.invoice_id) as invoice, coalesce(l.client_id, b.client_id) as client,
      coalesce(l.month, b.month) as month, l.exact as line, u.cost
    from (select l.*, i.client_id from invoice_line l join invoice i on i.id = l.invoice_id
        where l.source = 'letters' and invoice_bills(i)) l
      full join billed_letters b on b.invoice_id = l.invoice_id and b.month = l.month
      left join lateral (select sum(cost) as cost from usage_day
        where client_id = l.client_id and day between l.month and last_day(l.month)) u on true
    where (l.client_id, l.exact) is distinct from (b.client_id, half_even(u.cost * (10000 + l.markup), 10000))`,
  // Runs by command have another actor, and no row.
  'every automatic run of a month began after it, is in the audit log once it is over, and is not forgotten': `
    with noted as (select distinct details ->> 'month' as month from audit
      where action = 'invoices_run' and outcome = 'allowed' and actor = 'service')
    select coalesce(r.month::text, n.month) as month, r.finished_at
    from invoice_run r full join noted n on n.month = to_char(r.month, 'YYYY-MM')
    where r.month is null or r.finished_at is not null and n.month is null
      or r.month + interval '1 month' > now() at time zone 'UTC' or r.finished_at is null and r.busy_until > now() + interval '1 hour'`,
  'what is listed as unbilled is everything that no invoice bills': `
    with due as (
      select 'usage' as kind, u.account_id as id, last_day(m.month) as day, null::uuid as client_id, sum(u.cost) as amount
      from usage_day u cross join lateral (select date_trunc('month', u.day)::date as month) m
      where not exists (select from billed_month b where b.account_id = u.account_id and b.month = m.month)
      group by 2, m.month
      union all
      select 'letters', u.client_id, last_day(m.month), u.client_id, sum(u.cost)
      from usage_day u cross join lateral (select date_trunc('month', u.day)::date as month) m
      where u.client_id is not null
        and not exists (select from billed_letters b where b.client_id = u.client_id and b.month = m.month)
        and not exists (select from erased_client e where e.client_id = u.client_id)
      group by 2, m.month
      union all
      select 'time', id, date, client_id, half_even(minutes * rate, 60) from time_entry t
      where billable and archived_at is null and not exists (select from billed_entry b where b.entry_id = t.id)
      union all
      select 'expense', id, date, client_id, amount from expense e
      where billable and archived_at is null and not exists (select from billed_entry b where b.entry_id = e.id)
    )
    select coalesce(d.kind, u.kind) as kind, coalesce(d.id, u.id) as id, coalesce(d.day, u.day) as day, d.amount as due,
      u.amount as listed
    from (select * from due where kind in ('time', 'expense')
        or exists (select from closed_month c where last_day(c.month) = due.day)
        or exists (select from unbilled l where l.id = due.id and l.day = due.day)) d
      full join unbilled u on u.id = d.id and u.day = d.day
    where (d.kind, d.id, d.day, d.client_id, d.amount) is distinct from (u.kind, u.id, u.day, u.client_id, u.amount)`,
}

/** Checks that invoices, the ledger, payments and numbers agree. */
export function verifyInvoices(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, invoices)
}
