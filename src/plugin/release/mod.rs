//! placeholder
use crate::provider_api::registry::Driver;
pub(crate) fn settle(_driver: &Driver) -> Result<(), String> {
    Ok(())
}
