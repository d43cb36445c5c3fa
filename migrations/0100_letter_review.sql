-- The review of letters: docs/decisions/0037-review-of-letters.md.

create table letter_review (
  id             uuid primary key,
  client_id      uuid not null references client,
  letter_id      uuid not null,
  -- The person who is asked.
  reviewer_id    uuid not null references person,
  -- The version of the letter that they were asked about.
  letter_version integer not null,
  -- What they were asked to look at.
  message        text check (length(message) between 1 and 2000),
  status         text not null default 'open' check (status in ('open', 'returned', 'approved', 'withdrawn')),
  -- Why the letter was returned.
  reason         text check (length(reason) between 1 and 5000),
  -- The version of the letter that they returned or approved.
  ended_version  integer,
  created_at     timestamptz(3) not null default record_time(),
  created_by     uuid default portal_person() references person,
  updated_at     timestamptz(3) not null default record_time(),
  updated_by     uuid default portal_person() references person,
  version        integer not null default 1,
  foreign key (letter_id, client_id) references letter (id, client_id),
  check ((status = 'returned') = (reason is not null)),
  check ((status in ('returned', 'approved')) = (ended_version is not null))
);
create index on letter_review (letter_id, created_at);
create index on letter_review (client_id);
create unique index letter_review_open on letter_review (letter_id, reviewer_id) where status = 'open';
create index letter_review_of_reviewer on letter_review (reviewer_id) where status = 'open';
create index letter_review_of_asker on letter_review (created_by) where status in ('open', 'returned');

-- What a mail is to tell: that a review was asked for, or how it ended.
create table letter_review_notice (
  review_id  uuid not null references letter_review on delete cascade,
  client_id  uuid not null references client,
  kind       text not null check (kind in ('asked', 'returned', 'approved')),
  created_at timestamptz(3) not null default record_time(),
  primary key (review_id, kind)
);
create index on letter_review_notice (client_id);

do $$
declare
  v_table text;
  v_statement text;
begin
  foreach v_table in array array['letter_review', 'letter_review_notice'] loop
    foreach v_statement in array array[
      'alter table {table} enable row level security, force row level security',
      -- The policy of client limits what a consultant sees here.
      'create policy own on {table} to {consultant} using (exists (select from client where client.id = {table}.client_id))',
      'create policy every on {table} to {partner} using (true)',
      'create policy proved on {table} for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
      'grant select on {table} to {consultant}, {partner}']
    loop
      execute replace(replace(replace(replace(v_statement, '{table}', v_table), '{consultant}', portal_role('consultant')),
        '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
    end loop;
  end loop;
  foreach v_statement in array array[
    'create trigger revised after insert or update on letter_review for each row execute function keep_revision()',
    'create trigger touched after insert or update on letter_review for each row execute function touch_client()',
    'create policy erased on letter_review for delete to {owner} using (erasure_is_due(client_id))',
    -- For the service that sends them, and for an erasure.
    'create policy erased on letter_review_notice for delete to {owner} using (true)',
    'create policy kept on letter_review_notice for update to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    -- Versions of the letter, authors and times come from the transaction: no statement may set them.
    'grant insert (id, client_id, letter_id, reviewer_id, message), update (status, reason, updated_at, updated_by, version)
      on letter_review to {consultant}, {partner}',
    'grant insert (review_id, client_id, kind) on letter_review_notice to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
