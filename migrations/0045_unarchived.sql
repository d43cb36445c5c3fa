-- The changes on the home page, with the new action client_unarchived: as audit_of_changes in 0024_overview.sql.
create index audit_of_record_changes on audit (client_id, id)
  where outcome = 'allowed' and noun in ('client', 'note', 'dispute', 'letter')
    and action ~ '_(created|imported|changed|assigned|removed|archived|unarchived|restored|approved|sent)$';
drop index audit_of_changes;
