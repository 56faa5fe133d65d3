"""The portal's pages for who looks after an organisation: people, departments, roles, quotas."""
