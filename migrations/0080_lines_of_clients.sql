-- Lines of batches and of their files belong to the client that they name, so that erasure finds them. A line that waits for its model or for credit comes
-- after those of its batch that do not: docs/decisions/0033-batches.md.
alter table batch_line
  add column client_id uuid,
  -- When it last began to wait for its model or for credit.
  add column waited_at timestamptz;
alter table batch_file_line add column client_id uuid;
create index on batch_line (client_id) where client_id is not null;
create index on batch_file_line (client_id) where client_id is not null;
create index on batch_line (batch_id, waited_at nulls first, number) where state in ('queued', 'running');
drop index batch_line_batch_id_number_idx;
create trigger not_of_erased before insert on batch_line for each row when (new.client_id is not null) execute function skip_erased();
