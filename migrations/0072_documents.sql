-- Documents on the record: docs/decisions/0030-documents.md. A document is a name and a content. Contents are the bytes of files, each stored
-- once per client, encrypted and in chunks.

create table document_content (
  client_id  uuid not null references client,
  -- SHA-256 of the bytes.
  digest     bytea not null check (length(digest) = 32),
  bytes      bigint not null check (bytes between 0 and 100000000),
  -- The media type, found from the bytes.
  type       text not null check (length(type) between 3 and 100),
  -- The upload with whose id its chunks are stored.
  upload_id  uuid not null,
  -- Whether a document has had it. What none has had within a day is removed.
  used       boolean not null default false,
  created_at timestamptz(3) not null default record_time(),
  primary key (client_id, digest),
  unique (client_id, upload_id)
);
create index document_content_unused on document_content (created_at) where not used;

-- Bytes on their way. A complete one has made a content, or found it there.
create table document_upload (
  id         uuid primary key,
  client_id  uuid not null references client,
  bytes      bigint not null check (bytes between 0 and 100000000),
  received   bigint not null default 0 check (received between 0 and bytes),
  -- Null until all bytes have arrived.
  digest     bytea check (length(digest) = 32),
  type       text,
  created_at timestamptz(3) not null default record_time(),
  created_by uuid default portal_person() references person,
  touched_at timestamptz(3) not null default record_time(),
  check (digest is null or received = bytes and type is not null)
);
create index on document_upload (touched_at);
create index on document_upload (client_id);

create table document_chunk (
  client_id uuid not null references client,
  upload_id uuid not null,
  -- The number of bytes before it.
  start     bigint not null,
  -- Without what encryption adds to it.
  bytes     integer not null check (bytes > 0),
  -- Encrypted with the installation's key, for this upload and this start.
  data      bytea not null,
  primary key (client_id, upload_id, start)
);
-- What is encrypted cannot be compressed.
alter table document_chunk alter column data set storage external;

create table document (
  id          uuid primary key,
  client_id   uuid not null references client,
  name        text not null check (length(name) between 1 and 255),
  digest      bytea not null,
  type        text not null,
  bytes       bigint not null,
  created_at  timestamptz(3) not null default record_time(),
  created_by  uuid default portal_person() references person,
  updated_at  timestamptz(3) not null default record_time(),
  updated_by  uuid default portal_person() references person,
  version     integer not null default 1,
  archived_at timestamptz(3),
  search      tsvector not null generated always as (to_tsvector('simple', words(name))) stored,
  foreign key (client_id, digest) references document_content
);
create index on document (client_id, digest);
create index document_by_creation on document (client_id, created_at, id);
create index on document using gin (search);
create index document_by_change on document (updated_at, id) where archived_at is null;

do $$
declare
  v_table text;
  v_statement text;
begin
  foreach v_table in array array['document', 'document_content', 'document_upload', 'document_chunk'] loop
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
    'create trigger revised after insert or update on document for each row execute function keep_revision()',
    'create trigger touched after insert or update on document for each row execute function touch_client()',
    'create trigger bounded after insert on document for each row execute function refuse_excess_entry()',
    'create trigger bounded_restored after update of archived_at on document for each row
      when (old.archived_at is not null and new.archived_at is null) execute function refuse_excess_entry()',
    'create policy erased on document for delete to {owner} using (erasure_is_due(client_id))',
    'create policy erased on document_content for delete to {owner} using (not used or erasure_is_due(client_id))',
    'create policy erased on document_upload for delete to {owner} using (true)',
    'create policy erased on document_chunk for delete to {owner} using (erasure_is_due(client_id)
      or not exists (select from document_content c where (c.client_id, c.upload_id) = (document_chunk.client_id, document_chunk.upload_id)))',
    -- Authors and times come from the transaction, and type and size from the content: no statement may set them.
    'grant insert (id, client_id, name, digest), update (name, digest, updated_at, updated_by, version, archived_at) on document to {roles}',
    'grant insert (client_id, digest, bytes, type, upload_id), update (used) on document_content to {roles}',
    'grant insert (id, client_id, bytes), update (received, digest, type, touched_at) on document_upload to {roles}',
    'grant insert (client_id, upload_id, start, bytes, data) on document_chunk to {roles}']
  loop
    execute replace(replace(v_statement, '{owner}', quote_ident(current_user)), '{roles}',
      portal_role('consultant') || ', ' || portal_role('partner'));
  end loop;
end $$;
