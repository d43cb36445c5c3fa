-- Chunks of documents may be objects in a folder or a bucket instead of bytes in the database: docs/decisions/0039-storage-of-documents.md.

create table document_object (
  -- SHA-256 of the encrypted bytes: the name of the object.
  digest       bytea primary key check (length(digest) = 32),
  client_id    uuid not null references client,
  place        text not null check (place in ('folder', 'bucket')),
  created_at   timestamptz(3) not null default record_time(),
  -- When no chunk needs it any more. Null while one does. Known before the object is written, so a crash leaves none behind for ever.
  remove_after timestamptz(3) default record_time() + interval '1 day'
);
create index on document_object (remove_after) where remove_after is not null;

alter table document_chunk
  alter column data drop not null,
  -- Where the encrypted bytes are, if not here.
  add column object bytea references document_object,
  add check (num_nonnulls(data, object) = 1);
create unique index on document_chunk (object) where object is not null;

do $$
declare
  v_statement text;
begin
  foreach v_statement in array array[
    'alter table document_object enable row level security, force row level security',
    -- The policy of client limits what a consultant sees here.
    'create policy own on document_object to {consultant} using (exists (select from client where client.id = document_object.client_id))',
    'create policy every on document_object to {partner} using (true)',
    'create policy proved on document_object for select to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy released on document_object for update to {owner} using (current_setting(''tollgate.proof'', true) = ''on'')',
    'create policy erased on document_object for delete to {owner} using (remove_after < clock_timestamp())',
    'grant select on document_object to {consultant}, {partner}',
    'grant insert (digest, client_id, place), update (remove_after) on document_object to {consultant}, {partner}',
    'grant insert (object) on document_chunk to {consultant}, {partner}']
  loop
    execute replace(replace(replace(v_statement, '{consultant}', portal_role('consultant')),
      '{partner}', portal_role('partner')), '{owner}', quote_ident(current_user));
  end loop;
end $$;
