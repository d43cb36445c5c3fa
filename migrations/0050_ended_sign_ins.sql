-- Whatever ends a session of people also ends the sign-ins that they have not completed.
create index on sign_in_attempt (person_id) where person_id is not null;
create index on sign_in_attempt (links_to) where links_to is not null;
