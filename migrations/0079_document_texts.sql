-- The text of documents, page by page, as a process of its own has read it: docs/decisions/0030-documents.md.
alter table document_content
  -- Why there is no text, or that it is there. Contents that a document has are read in the background.
  add column reading text not null default 'waiting' check (reading in ('waiting', 'read', 'none', 'protected', 'damaged', 'too_much')),
  -- How often an instance began to read it.
  add column tries integer not null default 0,
  -- Until then, that instance is expected to read it.
  add column claimed_until timestamptz(3);
create index document_content_waiting on document_content (created_at) where reading = 'waiting' and used;

create table document_text (
  client_id uuid not null references client,
  digest    bytea not null,
  page      integer not null check (page > 0),
  -- The name of a sheet; empty for other pages.
  label     text not null,
  text      text not null,
  search    tsvector not null generated always as (to_tsvector('simple', left(words(label || ' ' || text), 100000))) stored,
  primary key (client_id, digest, page),
  foreign key (client_id, digest) references document_content on delete cascade
);
create index on document_text using gin (search);

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'alter table document_text enable row level security, force row level security',
    -- The policy of client limits what a consultant sees here.
    'create policy own on document_text to {consultant} using (exists (select from client where client.id = document_text.client_id))',
    'create policy every on document_text to {partner} using (true)',
    'create policy proved on document_text for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy kept on document_text for insert to {owner} with check (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy kept on document_content for update to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'grant select on document_text to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')), '{partner}', portal_role('partner')),
      '{owner}', quote_ident(current_user));
  end loop;
end $$;
