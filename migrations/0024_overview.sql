-- The overview, and the deadline of a dispute.

-- The day by which the firm has to answer. Null: none.
alter table dispute add column due date;
do $$
begin
  execute format('grant insert (due), update (due) on dispute to %I, %I', portal_role('consultant'), portal_role('partner'));
end $$;

-- What changed and what is waiting, in the order in which it is shown.
create index audit_of_changes on audit (client_id, id)
  where outcome = 'allowed' and noun in ('client', 'note', 'dispute', 'letter')
    and action ~ '_(created|imported|changed|assigned|removed|archived|restored|approved|sent)$';
create index dispute_open_by_age on dispute (created_at, id) include (client_id, amount)
  where status = 'open' and archived_at is null;
create index dispute_due on dispute (due, id) include (client_id)
  where status = 'open' and archived_at is null and due is not null;
create index letter_waiting on letter (status, updated_at, id) include (client_id)
  where status in ('draft', 'approved') and archived_at is null;
create index letter_waiting_of_client on letter (client_id, status)
  where status in ('draft', 'approved') and archived_at is null;
