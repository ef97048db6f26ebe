//! The only door to the network: HTTPS, host list, no redirects, size and time caps.
