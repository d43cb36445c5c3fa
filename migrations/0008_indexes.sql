-- The indexes of lists, searches and the audit log's filters. Each list is read in the order of an index, up to its limit.
drop index client_consultant_id_sort_key_id_idx, client_consultant_id_changed_at_id_idx, client_sort_key_id_idx,
  client_changed_at_id_idx, client_reference_key_id_idx;
create index client_by_name on client (status, sort_key, id) where deleted_at is null;
create index client_by_reference on client (status, reference_key, id) where deleted_at is null;
create index client_by_change on client (status, changed_at, id) where deleted_at is null;
create index client_of_consultant_by_name on client (consultant_id, status, sort_key, id) where deleted_at is null;
create index client_of_consultant_by_reference on client (consultant_id, status, reference_key, id)
  where deleted_at is null;
create index client_of_consultant_by_change on client (consultant_id, status, changed_at, id) where deleted_at is null;

-- A search reads the items that changed last before it turns to the full-text index.
create index note_by_change on note (updated_at, id) where archived_at is null;
create index dispute_by_change on dispute (updated_at, id) where archived_at is null;
create index letter_by_change on letter (updated_at, id) where archived_at is null;
-- The number of open disputes, for each row of a list.
create index dispute_open on dispute (client_id) where status = 'open' and archived_at is null;

create index audit_by_action on audit (action, id);
create index audit_refused on audit (id) where outcome = 'refused';
create index audit_by_others on audit (actor, id) where actor <> 'person';
