-- Developers see how far the batches of the accounts are that they were granted. The policy is in the file of granted_accounts().
alter table batch enable row level security;
do $$
begin
  execute format(
    'grant select (id, account_id, dialect, status, lines, succeeded, failed, created_at, expires_at, ended_at, results_until, next_at, waits_for)
       on batch to %I', portal_role('developer'));
end $$;
