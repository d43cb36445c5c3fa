-- Letters as mail to a client and its contacts, with what was sent: docs/decisions/0035-letters-by-mail.md.

-- The PDF of a letter, as it was first mailed.
create table letter_file (
  letter_id uuid primary key,
  client_id uuid not null references client,
  name      text not null check (length(name) between 1 and 300),
  content   bytea not null,
  digest    bytea not null check (digest = sha256(content)),
  foreign key (letter_id, client_id) references letter (id, client_id)
);

create table letter_mail (
  id          uuid primary key,
  client_id   uuid not null references client,
  letter_id   uuid not null,
  -- The mails that one request sent have this in common.
  sending_id  uuid not null,
  -- Null: the client itself.
  contact_id  uuid references contact,
  -- The name of the contact or the client, as it was then.
  name        text not null check (length(name) between 1 and 200),
  recipient   text not null check (length(recipient) between 3 and 254),
  subject     text not null check (length(subject) between 1 and 300),
  message     text not null check (length(message) between 1 and 5000),
  -- Of the file in letter_file.
  digest      bytea not null,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  version     integer not null default 1 check (version = 1),
  unique (sending_id, recipient),
  foreign key (letter_id, client_id) references letter (id, client_id)
);
create index on letter_mail (letter_id, created_at);
create index on letter_mail (client_id);

-- How each mail ended. It changes, and the mails do not.
create table letter_mail_end (
  mail_id   uuid primary key references letter_mail on delete cascade,
  client_id uuid not null references client,
  state     text not null default 'waiting' check (state in ('waiting', 'queued', 'sent', 'given_up', 'withdrawn')),
  at        timestamptz(3) not null default record_time()
);
create index on letter_mail_end (client_id);
create index on letter_mail_end (mail_id) where state = 'waiting';

do $$
declare
  v_table text;
  v_statement text;
begin
  foreach v_table in array array['letter_file', 'letter_mail', 'letter_mail_end'] loop
    foreach v_statement in array array[
      'alter table {table} enable row level security, force row level security',
      -- The policy of client limits what a consultant sees here.
      'create policy own on {table} to {consultant} using (exists (select from client where client.id = {table}.client_id))',
      'create policy every on {table} to {partner} using (true)',
      'create policy proved on {table} for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
      'create policy erased on {table} for delete to {owner} using (erasure_is_due(client_id))',
      'grant select on {table} to {consultant}, {partner}']
    loop
      execute replace(replace(replace(replace(v_statement, '{table}', v_table), '{consultant}', portal_role('consultant')),
        '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
    end loop;
  end loop;
  foreach v_statement in array array[
    'create trigger revised after insert on letter_mail for each row execute function keep_revision()',
    'create trigger touched after insert on letter_mail for each row execute function touch_client()',
    -- For the service that sends them.
    'create policy kept on letter_mail_end for update to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    -- Names, digests, authors and times come from the transaction: no statement may set them.
    'grant insert (letter_id, client_id, name, content, digest) on letter_file to {consultant}, {partner}',
    'grant insert (id, client_id, letter_id, sending_id, contact_id, recipient, subject, message) on letter_mail to {consultant}, {partner}',
    'grant insert (mail_id, client_id) on letter_mail_end to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
