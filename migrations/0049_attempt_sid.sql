-- The provider's name for its session, as in session.provider_sid: the provider may report the end of that session while the
-- sign-in waits for its second factor. The copy in the encrypted proof cannot be looked up.

alter table sign_in_attempt add column provider_sid text;
create index on sign_in_attempt (provider_sid) where provider_sid is not null;
