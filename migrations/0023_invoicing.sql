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

-- What was paid for an invoice, and what its credit notes take off.
create function invoice_paid(p_invoice uuid) returns amount language sql stable
  return (select coalesce(sum(amount), 0) from invoice_payment where invoice_id = p_invoice);
create function invoice_credited(p_invoice uuid) returns amount language sql stable
  return (select coalesce(sum(gross), 0) from invoice where credits_id = p_invoice and state = 'issued');

-- An invoice and its lines, without null fields, so that columns that are added later change nothing.
create function invoice_document(p_invoice invoice) returns jsonb
language sql stable set timezone = 'UTC' set search_path from current as $$
  select jsonb_strip_nulls(jsonb_build_object('invoice', to_jsonb(p_invoice), 'lines',
    (select jsonb_agg(to_jsonb(l) order by l.position) from invoice_line l where l.invoice_id = p_invoice.id)))
$$;

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

-- Writes an audit event about an invoice. It names no client, because a client's consultant sees the events that do.
create function note_invoice(p_action text, p_invoice uuid, p_request text, p_address text, p_details jsonb) returns void
language sql set search_path from current as $$
  insert into audit (action, outcome, noun, noun_id, request_id, address, details)
  values (p_action, 'allowed', 'invoice', p_invoice, p_request, p_address, p_details)
$$;

create function write_invoice_lines(p_invoice uuid, p_lines jsonb) returns void
language sql set search_path from current as $$
  insert into invoice_line (invoice_id, position, source, text, quantity, unit, unit_price, exact, net, tax_category, tax_rate,
      tax_reason, model, direction, credits_position)
    select p_invoice, l.position, l.source, l.text, l.quantity, l.unit, l.unit_price, l.exact, l.net, l.tax_category,
      l.tax_rate, l.tax_reason, l.model, l.direction, l.credits_position
    from jsonb_populate_recordset(null::invoice_line, p_lines) l
$$;

-- Outcomes: created; exists, if a repeated request created it before; no_payer; and archived.
create function create_invoice(p_id uuid, p_invoice jsonb, p_lines jsonb, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  v_new invoice := jsonb_populate_record(null::invoice, p_invoice);
  v_status text;
begin
  if exists (select from invoice where id = p_id) then return 'exists'; end if;
  if v_new.kind = 'credit_note' then
    -- Its payer is that of its invoice, also if the client was deleted since.
    v_status := 'active';
  elsif v_new.client_id is not null then
    select status into v_status from client where id = v_new.client_id and deleted_at is null;
    if v_status = 'archived' then return 'archived'; end if;
  else
    select 'active' into v_status from account where id = v_new.account_id;
  end if;
  if v_status is null then return 'no_payer'; end if;
  insert into invoice (id, kind, account_id, client_id, month, credits_id, currency, decimals, note, buyer_name, buyer_address,
      buyer_tax_number, net, tax, gross, taxes)
    values (p_id, v_new.kind, v_new.account_id, v_new.client_id, v_new.month, v_new.credits_id, v_new.currency, v_new.decimals,
      v_new.note, v_new.buyer_name, v_new.buyer_address, v_new.buyer_tax_number, v_new.net, v_new.tax, v_new.gross, v_new.taxes)
    on conflict (id) do nothing;
  if not found then return 'exists'; end if;
  perform write_invoice_lines(p_id, p_lines);
  perform note_invoice('invoice_created', p_id, p_request, p_address, jsonb_build_object('kind', v_new.kind));
  return 'created';
end $$;

-- Locks a draft. Returns null, or why not: unknown; was_issued; was_void; or stale, if it has another version.
create function lock_invoice_draft(p_id uuid, p_version integer) returns text
language plpgsql set search_path from current as $$
declare
  v_now invoice;
begin
  select * into v_now from invoice where id = p_id for no key update;
  return case when v_now.id is null then 'unknown' when v_now.state <> 'draft' then 'was_' || v_now.state
    when v_now.version <> p_version then 'stale' end;
end $$;

-- Outcomes: changed, and those of lock_invoice_draft().
create function change_invoice(p_id uuid, p_version integer, p_invoice jsonb, p_lines jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
  v_new invoice := jsonb_populate_record(null::invoice, p_invoice);
begin
  if v_outcome is not null then return v_outcome; end if;
  delete from invoice_line where invoice_id = p_id;
  perform write_invoice_lines(p_id, p_lines);
  update invoice set note = v_new.note, buyer_name = v_new.buyer_name, buyer_address = v_new.buyer_address,
      buyer_tax_number = v_new.buyer_tax_number, net = v_new.net, tax = v_new.tax, gross = v_new.gross, taxes = v_new.taxes,
      version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_changed', p_id, p_request, p_address, jsonb_build_object('version', (p_version + 1)::text));
  return 'changed';
end $$;

-- Outcomes: voided, and those of lock_invoice_draft().
create function void_invoice(p_id uuid, p_version integer, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
begin
  if v_outcome is not null then return v_outcome; end if;
  update invoice set state = 'void', version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_voided', p_id, p_request, p_address, null);
  return 'voided';
end $$;

-- Gives a draft the next number of its series, the seller and the buyer of this moment, and freezes it. The row of the series
-- is locked until the end of the transaction, so a rollback leaves no gap. Outcomes: issued; empty; archived; exceeds, if
-- the credit notes would be more than their invoice; and those of lock_invoice_draft().
create function issue_invoice(p_id uuid, p_version integer, p_series text, p_digits integer,
  p_issued_on date, p_due_on date, p_seller jsonb, p_request text, p_address text)
returns text language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
  v_draft invoice;
  v_name text;
  v_postal text;
  v_last bigint;
  v_number text;
begin
  if v_outcome is not null then return v_outcome; end if;
  select * into v_draft from invoice where id = p_id;
  if not exists (select from invoice_line where invoice_id = p_id) then return 'empty'; end if;
  if v_draft.client_id is not null then
    select name, address into v_name, v_postal from client
      where id = v_draft.client_id and deleted_at is null and (status = 'active' or v_draft.kind = 'credit_note') for share;
    if not found then return 'archived'; end if;
  else
    select name into v_name from account where id = v_draft.account_id;
  end if;
  if v_draft.credits_id is not null then
    perform from invoice where id = v_draft.credits_id for no key update;
    if (select gross from invoice where id = v_draft.credits_id) < invoice_credited(v_draft.credits_id) + v_draft.gross then
      return 'exceeds';
    end if;
  end if;
  insert into invoice_series as s (name, last) values (p_series, 1)
    on conflict (name) do update set last = s.last + 1 returning s.last into v_last;
  v_number := replace(p_series, '{number}', lpad(v_last::text, greatest(p_digits, length(v_last::text)), '0'));
  update invoice set state = 'issued', number = v_number, series = p_series, series_number = v_last, seller = p_seller, buyer_name = coalesce(buyer_name, v_name),
      buyer_address = coalesce(buyer_address, v_postal), issued_on = p_issued_on, due_on = p_due_on, issued_at = record_time(),
      issued_by = portal_person(), version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_issued', p_id, p_request, p_address, jsonb_build_object('number', v_number));
  return 'issued';
end $$;

-- Records a payment. Outcomes: paid, and exists, if a repeated request recorded it before.
create function pay_invoice(p_id uuid, p_payment uuid, p_date date, p_amount amount, p_method text, p_reference text,
  p_reverses uuid, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
begin
  -- Of two requests with one key, the second waits and finds the payment of the first.
  perform from invoice where id = p_id for no key update;
  if exists (select from invoice_payment where id = p_payment) then return 'exists'; end if;
  insert into invoice_payment (id, invoice_id, date, amount, method, reference, reverses_id)
    values (p_payment, p_id, p_date, p_amount, p_method, p_reference, p_reverses);
  perform note_invoice('invoice_paid', p_id, p_request, p_address, jsonb_build_object('payment', p_payment::text));
  return 'paid';
end $$;

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
    -- For the functions above that run as the owner, for seals and for proofs. The triggers bind the owner too.
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
