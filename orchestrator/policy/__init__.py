"""Policy files, and the verdict on a Request."""
