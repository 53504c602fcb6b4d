"""What the suites share, by subject: requests, steps into a state, places in answers. Nothing here
judges, and nothing here knows which claim asks.

records          batches and message sets, whole and damaged
topics           logs with known batches, and where they end
fetching         a Fetch of several partitions, and of a session
producing        a Produce of several partitions, and what it answers
segments         logs of small segments on brokers that clean often; how large a log is
internal_logs    what a case leaves in __consumer_offsets or __share_group_state
sending          requests that are sent and awaited later, connections that are watched
offsets          committed offsets, in each form of their requests
groups           members of classic groups, each on its own connection
consumer_groups  members of consumer groups (KIP-848)
shares           share groups (KIP-932)
streams_groups   members of streams groups (KIP-1071), and their topologies
transactions     a transactional id through its states
coordinators     coordinators among several brokers: asked, placed, replaced
three_brokers    clusters of three brokers: logs on chosen brokers, leaders, followers
controllers      requests to the controller and among brokers
quotas           quotas of clients
"""
