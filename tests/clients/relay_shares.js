// A page of shares, a page of a customer's events, and a share that is read again by its id.
const page = graphql`
  query SharesQuery {
    ...Shares_query
  }
`;

const shares = graphql`
  fragment Shares_query on Query
  @refetchable(queryName: "SharesPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" }) {
    shares(first: $count, after: $cursor, sorting: [NAME]) @connection(key: "Shares_shares") {
      edges {
        node {
          ...Shares_share
        }
      }
    }
  }
`;

const events = graphql`
  fragment Shares_events on Customer
  @refetchable(queryName: "EventsPageQuery")
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" }) {
    events(first: $count, after: $cursor) @connection(key: "Shares_events") {
      edges {
        node {
          name
        }
      }
    }
  }
`;

const share = graphql`
  fragment Shares_share on Share @refetchable(queryName: "ShareAgainQuery") {
    name
    visibility
  }
`;
