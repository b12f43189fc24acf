"""The child that speaks to the driver. It imports nothing that only its parent needs: it is started for each job."""
