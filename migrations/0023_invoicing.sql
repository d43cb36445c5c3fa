-- Invoices to accounts and clients, with their lines and payments. Only partners reach them. Amounts are in 10⁻¹² of the
-- currency unit. `net`, `tax` and `gross` are whole numbers of the currency's minor unit; `exact` is not rounded.

-- The last number of each series, by the text around the number: `INV-2026-{number}`. It only grows, by one, in the transaction
-- that issues the invoice.
create table invoice_series (
  name text primary key check (name like '%{number}%' and length(name) <= 60),
  last bigint not null
);

create table invoice (
  id               uuid primary key,
  kind             text not null default 'invoice' check (kind in ('invoice', 'credit_note')),
  -- Whether it is paid follows from its payments and credit notes, and is not stored.
  state            text not null default 'draft' check (state in ('draft', 'issued', 'void')),
  -- Who pays: either an account or a client.
  account_id       uuid references account,
  client_id        uuid references client,
  -- The month of the account whose usage it bills, by its first day (UTC).
  month            date check (extract(day from month) = 1),
  -- The invoice that a credit note corrects.
  credits_id       uuid references invoice,
  currency         text not null check (currency ~ '^[A-Z]{3}$'),
  -- The decimals of the currency's minor unit.
  decimals         smallint not null check (decimals between 0 and 4),
  note             text not null default '' check (length(note) <= 2000),
  -- Null in a draft: as the account or the client has it when the invoice is issued.
  buyer_name       text check (length(buyer_name) between 1 and 200),
  buyer_address    text check (length(buyer_address) between 1 and 500),
  buyer_tax_number text check (length(buyer_tax_number) between 1 and 50),
  net              amount not null check (net >= 0),
  tax              amount not null check (tax >= 0),
  gross            amount not null,
  -- [{category, rate, reason, net, tax}]: one for each category and rate. Amounts are texts.
  taxes            jsonb not null check (jsonb_typeof(taxes) = 'array'),
  -- Set when it is issued.
  number           text unique check (length(number) between 1 and 60),
  series           text references invoice_series,
  series_number    bigint,
  seller           jsonb,
  issued_on        date,
  due_on           date,
  issued_at        timestamptz(3),
  issued_by        uuid references person,
  created_at       timestamptz(3) not null default record_time(),
  created_by       uuid default portal_person() references person,
  updated_at       timestamptz(3) not null default record_time(),
  updated_by       uuid default portal_person() references person,
  version          integer not null default 1,
  constraint invoice_is_valid check ((account_id is null) <> (client_id is null) and gross = net + tax
    and (month is null or (account_id is not null and kind = 'invoice'))
    and (kind = 'credit_note') = (credits_id is not null)
    and case when state = 'issued'
      then num_nulls(number, series, series_number, seller, buyer_name, issued_at) = 0 and due_on >= issued_on
      else num_nonnulls(number, series, series_number, seller, issued_on, due_on, issued_at, issued_by) = 0 end),
  unique (series, series_number)
);
create index on invoice (account_id, id) where account_id is not null;
create index on invoice (client_id, id) where client_id is not null;
create index on invoice (credits_id) where credits_id is not null;

create table invoice_line (
  invoice_id       uuid not null references invoice,
  position         integer not null check (position between 1 and 10000),
  -- usage: tokens of one model, direction and price in the month. fee: typed. credit: of a credit note.
  source           text not null check (source in ('usage', 'fee', 'credit')),
  text             text not null check (length(text) between 1 and 500),
  -- In 10⁻⁶ of the unit.
  quantity         amount not null check (quantity > 0),
  unit             text not null check (unit in ('hour', 'day', 'month', 'piece', 'kilometre', 'million_tokens')),
  -- In 10⁻⁶ of the currency unit, so that quantity times price is in 10⁻¹².
  unit_price       amount not null check (unit_price >= 0),
  exact            amount not null,
  net              amount not null,
  -- A category of UNCL 5305, and the rate in hundredths of a per cent.
  tax_category     text not null check (tax_category in ('S', 'Z', 'E', 'AE', 'K', 'G', 'O')),
  tax_rate         integer not null check (tax_rate between 0 and 10000),
  tax_reason       text check (length(tax_reason) between 1 and 200),
  model            text,
  direction        text check (direction in ('input', 'output')),
  -- The line of the invoice that a credit note credits.
  credits_position integer,
  primary key (invoice_id, position),
  constraint line_is_valid check (exact = quantity * unit_price and (tax_category = 'S') = (tax_rate > 0)
    and (tax_category in ('S', 'Z')) = (tax_reason is null)
    and (source = 'usage') = (model is not null) and (source = 'usage') = (direction is not null)
    and (source = 'credit') = (credits_position is not null))
);

-- Append-only. A mistake is taken back by a payment of the opposite amount that names it.
create table invoice_payment (
  number      bigint generated always as identity primary key,
  id          uuid not null unique,
  invoice_id  uuid not null references invoice,
  date        date not null,
  -- Negative: money that was returned, or a payment taken back.
  amount      amount not null check (amount <> 0),
  method      text not null check (method in ('transfer', 'card', 'cash', 'direct_debit', 'other')),
  reference   text not null default '' check (length(reference) <= 200),
  reverses_id uuid unique,
  at          timestamptz(3) not null default record_time(),
  by          uuid default portal_person() references person
);
create index on invoice_payment (invoice_id);

-- Every invoice as it was issued. Written by a trigger and sealed.
create table invoice_issue (
  number     bigint generated always as identity primary key,
  invoice_id uuid not null unique references invoice,
  at         timestamptz not null default clock_timestamp(),
  document   jsonb not null
);

-- The months of accounts that are billed: on an invoice that is neither void nor credited in full. Written by triggers.
create table billed_month (
  account_id uuid not null references account,
  month      date not null,
  invoice_id uuid not null unique references invoice,
  primary key (account_id, month)
);

-- Only a draft changes, and never what it bills. Voiding replaces deleting.
create function keep_invoice() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' and new.state = 'draft' then return new; end if;
  if tg_op = 'UPDATE' and old.state = 'draft'
    and (new.id, new.kind, new.account_id, new.client_id, new.month, new.credits_id, new.currency, new.decimals, new.created_at,
      new.created_by) is not distinct from (old.id, old.kind, old.account_id, old.client_id, old.month, old.credits_id,
      old.currency, old.decimals, old.created_at, old.created_by) then
    return new;
  end if;
  raise exception 'an invoice is changed only while it is a draft, and never deleted' using errcode = 'insufficient_privilege';
end $$;
create trigger kept before insert or update or delete on invoice for each row execute function keep_invoice();
create trigger not_emptied before truncate on invoice for each statement execute function refuse_change();

-- The lock lets no line change while its invoice is issued.
create function keep_invoice_line() returns trigger language plpgsql set search_path from current as $$
declare
  v_line invoice_line;
begin
  if tg_op = 'DELETE' then v_line := old; else v_line := new; end if;
  perform from invoice where id = v_line.invoice_id and state = 'draft' for share;
  if not found or tg_op = 'UPDATE' then
    raise exception 'lines are replaced only while their invoice is a draft' using errcode = 'insufficient_privilege';
  end if;
  return v_line;
end $$;
create trigger kept before insert or update or delete on invoice_line for each row execute function keep_invoice_line();
create trigger not_emptied before truncate on invoice_line for each statement execute function refuse_change();

-- No payment is larger than what is open, and no money is returned that was not paid too much. TG005 names the column at fault.
create function keep_invoice_payment() returns trigger language plpgsql set search_path from current as $$
declare
  v_invoice invoice;
  v_open amount;
  v_reversed invoice_payment;
begin
  select * into v_invoice from invoice where id = new.invoice_id for no key update;
  if v_invoice.state is distinct from 'issued' or v_invoice.kind <> 'invoice' then
    raise exception 'only issued invoices are paid' using errcode = 'TG005', column = 'invoice_id';
  end if;
  if new.amount % power(10::numeric, 12 - v_invoice.decimals)::numeric(38, 0) <> 0 then
    raise exception 'a payment is in the minor unit of the currency' using errcode = 'TG005', column = 'amount';
  end if;
  if new.reverses_id is not null then
    select * into v_reversed from invoice_payment where id = new.reverses_id and invoice_id = new.invoice_id;
    if not found or v_reversed.reverses_id is not null or new.amount <> -v_reversed.amount then
      raise exception 'no such payment is taken back' using errcode = 'TG005', column = 'reverses_id';
    end if;
    return new;
  end if;
  v_open := v_invoice.gross - invoice_credited(new.invoice_id) - invoice_paid(new.invoice_id);
  if new.amount > greatest(v_open, 0) or new.amount < least(v_open, 0) then
    raise exception 'more than what is open' using errcode = 'TG005', column = 'amount';
  end if;
  return new;
end $$;
create trigger kept before insert on invoice_payment for each row execute function keep_invoice_payment();
create trigger numbered_in_order before insert on invoice_payment for each statement execute function take_transaction_id();

create function keep_invoice_series() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' and new.last = 1 then return new; end if;
  if tg_op = 'UPDATE' and new.last = old.last + 1 and new.name = old.name then return new; end if;
  raise exception 'a series only continues, by one' using errcode = 'insufficient_privilege';
end $$;
create trigger kept before insert or update or delete on invoice_series for each row execute function keep_invoice_series();
create trigger not_emptied before truncate on invoice_series for each statement execute function refuse_change();

create function keep_billed_month() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'DELETE' and exists (select from invoice i where i.id = old.invoice_id
    and (i.state = 'void' or (exists (select from invoice c where c.credits_id = i.id and c.state = 'issued')
      and i.gross = invoice_credited(i.id)))) then return old; end if;
  raise exception 'a month is billed until its invoice is void or credited in full' using errcode = 'insufficient_privilege';
end $$;
create trigger kept before update or delete on billed_month for each row execute function keep_billed_month();
create trigger not_emptied before truncate on billed_month for each statement execute function refuse_change();

-- Run as the owner: no portal role may write these rows.
create function mark_billed_month() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    insert into billed_month (account_id, month, invoice_id) values (new.account_id, new.month, new.id);
  else
    delete from billed_month where invoice_id = new.id;
  end if;
  return null;
end $$;
create trigger billed after insert on invoice for each row when (new.month is not null) execute function mark_billed_month();
create trigger unbilled after update on invoice for each row
  when (new.state = 'void' and new.month is not null) execute function mark_billed_month();

create function keep_issued_invoice() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into invoice_issue (invoice_id, document) values (new.id, invoice_document(new));
  delete from billed_month b using invoice i
    where i.id = new.credits_id and b.invoice_id = i.id and i.gross = invoice_credited(i.id);
  return null;
end $$;
create trigger issued after update on invoice for each row
  when (new.state = 'issued') execute function keep_issued_invoice();

insert into seal_chain (name, number) values ('invoice_issue', 'number'), ('invoice_payment', 'number');

do $$
declare
  v_table text;
  v_statement text;
begin
  foreach v_table in array array['invoice', 'invoice_line', 'invoice_payment', 'invoice_series', 'invoice_issue', 'billed_month'] loop
    execute format('alter table %I enable row level security', v_table);
    execute format('alter table %I force row level security', v_table);
    execute format('create policy every on %I to %s using (true)', v_table, portal_role('partner'));
    -- For functions that run as the owner, for seals and for proofs. The triggers bind the owner too.
    execute format('create policy owned on %I to %I using (true)', v_table, current_user);
    execute format('grant select on %I to %s', v_table, portal_role('partner'));
  end loop;
  foreach v_table in array array['invoice_payment', 'invoice_issue'] loop
    execute format('create trigger append_only before update or delete or truncate on %I
      for each statement execute function refuse_change()', v_table);
    execute format('revoke update, delete, truncate on %I from %I', v_table, current_user);
  end loop;
  foreach v_statement in array array[
    'grant insert (id, kind, account_id, client_id, month, credits_id, currency, decimals, note, buyer_name, buyer_address,
        buyer_tax_number, net, tax, gross, taxes),
      update (state, note, buyer_name, buyer_address, buyer_tax_number, net, tax, gross, taxes, number, series,
        series_number, seller, issued_on,
        due_on, issued_at, issued_by, updated_at, updated_by, version) on invoice to {partner}',
    'grant insert, delete on invoice_line to {partner}',
    'grant insert (id, invoice_id, date, amount, method, reference, reverses_id) on invoice_payment to {partner}',
    'grant insert, update (last) on invoice_series to {partner}',
    -- The name on an invoice to an account.
    'grant select (id, name) on account to {partner}']
  loop
    execute replace(v_statement, '{partner}', portal_role('partner'));
  end loop;
end $$;
