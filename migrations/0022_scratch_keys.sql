-- A scratch key belongs to a person, who calls the API with it from the documentation. It has no text: its secret_hash is
-- random, so no request can carry it.
alter table api_key add column person_id uuid references person;

-- A person has one scratch key of an account at a time, besides those that were revoked.
create unique index on api_key (person_id, account_id) where person_id is not null and revoked_at is null;
