-- Invoices and reminders as mail to the payer, with what was sent.

-- The file of an invoice as it was first sent. Later mails of the invoice have the same one.
create table invoice_file (
  invoice_id uuid primary key references invoice,
  name       text not null check (length(name) between 1 and 200),
  content    bytea not null,
  digest     bytea not null check (digest = sha256(content)),
  at         timestamptz(3) not null default record_time()
);

create table invoice_mail (
  number        bigint generated always as identity primary key,
  id            uuid not null unique,
  invoice_id    uuid not null references invoice,
  kind          text not null check (kind in ('invoice', 'reminder')),
  -- Of an automatic reminder: the days after the due date, from the configuration.
  reminder_days integer check (reminder_days is null or kind = 'reminder'),
  recipient     text not null check (length(recipient) between 3 and 254),
  copy_to       text check (length(copy_to) between 3 and 254),
  subject       text not null check (length(subject) between 1 and 200),
  message       text not null check (length(message) between 1 and 5000),
  -- Of the file in invoice_file.
  digest        bytea not null check (length(digest) = 32),
  at            timestamptz(3) not null default record_time(),
  by            uuid default portal_person() references person,
  unique (invoice_id, reminder_days)
);
create index on invoice_mail (invoice_id, number);

-- What became of each mail. A reference to it would need the right to change it. `withdrawn`: nothing was open when the reminder was to be sent.
create table invoice_mail_end (
  mail_id uuid primary key,
  state   text not null default 'waiting' check (state in ('waiting', 'queued', 'sent', 'given_up', 'withdrawn')),
  at      timestamptz(3) not null default record_time()
);
create index on invoice_mail_end (mail_id) where state = 'waiting';

create trigger numbered_in_order before insert on invoice_mail for each statement execute function take_transaction_id();
insert into seal_chain (name, number) values ('invoice_mail', 'number');

do $$
declare
  v_table text;
begin
  foreach v_table in array array['invoice_file', 'invoice_mail', 'invoice_mail_end'] loop
    execute format('alter table %I enable row level security', v_table);
    execute format('alter table %I force row level security', v_table);
    execute format('create policy every on %I to %s using (true)', v_table, portal_role('partner'));
    -- For seals, for proofs and for sending.
    execute format('create policy owned on %I to %I using (true)', v_table, current_user);
    execute format('grant select, insert on %I to %s', v_table, portal_role('partner'));
  end loop;
  foreach v_table in array array['invoice_file', 'invoice_mail'] loop
    execute format('create trigger append_only before update or delete or truncate on %I
      for each statement execute function refuse_change()', v_table);
    execute format('revoke update, delete, truncate on %I from %I', v_table, current_user);
  end loop;
  execute format('grant select (billing_email) on account to %s', portal_role('partner'));
end $$;
